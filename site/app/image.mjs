// The image of a Python that has everything imported: how it is checked and laid into memory.
// Written at build by stages/node/snapshot.mjs, which also tells the layout.

export const MAGIC = 0x4b434f4c; // "LOCK"
export const WORDS = 7;

/** A checksum of all that follows the seven words at the start. */
export function checksum(buffer) {
  const words = new Uint32Array(buffer, WORDS * 4, (buffer.byteLength - WORDS * 4) >> 2);
  let sum = 0x811c9dc5;
  for (let k = 0; k < words.length; k++) sum = Math.imul(sum ^ words[k], 0x01000193);
  return sum >>> 0;
}

/** Read an image. Throws an Error that says why when it is not one of this build, whole. */
export function open(buffer, tag) {
  if (buffer.byteLength < WORDS * 4) throw new Error("image: too short");
  const [magic, found, memory, staticEnd, headLength, runs, sum] = new Uint32Array(buffer, 0, WORDS);
  if (magic !== MAGIC || found !== tag) throw new Error("image: of another version");
  if (checksum(buffer) !== sum) throw new Error("image: damaged");
  const head = new Uint8Array(buffer, WORDS * 4, headLength).slice();
  return { buffer, memory, staticEnd, head, runs, table: WORDS * 4 + headLength };
}

/** Lay an image into the memory of a module that has just been made, growing it where it is too small. */
export function restore(image, module) {
  grow(module, image.memory);
  const heap = module.HEAPU8;
  heap.fill(0, image.staticEnd);
  const table = new Uint32Array(image.buffer, image.table, 2 * image.runs);
  const bytes = new Uint8Array(image.buffer);
  let at = 0;
  let from = image.table + 8 * image.runs;
  for (let k = 0; k < image.runs; k++) {
    at += table[k];
    const length = table[image.runs + k];
    heap.set(bytes.subarray(from, from + length), at);
    at += length;
    from += length;
  }
}

function grow(module, size) {
  while (module.HEAPU8.length < size) {
    const before = module.HEAPU8.length;
    if (!module._malloc(size - module._sbrk(0) + 65536) || module.HEAPU8.length === before) {
      throw new Error("image: not enough memory");
    }
  }
}
