// Files of our own that are stored compressed, as the reader's browser gets them: decoded on the way, with bytes counted.

/** Fetch a .gz file; onBytes is told how many bytes each piece had. Resolves to a Response of the decoded content. */
export async function download(url, type, onBytes = (_count) => {}) {
  const response = await fetch(url);
  if (!response.ok || !response.body) throw new Error(`${url}: ${response.status}`);
  const [first, rest] = await split(counted(response.body, onBytes));
  // a host may have decoded it already, so the content tells, not the name
  const body = first[0] === 0x1f && first[1] === 0x8b ? rest.pipeThrough(new DecompressionStream("gzip")) : rest;
  return new Response(body, { headers: { "content-type": type } });
}

function counted(body, onBytes) {
  const count = (piece, controller) => {
    onBytes(piece.byteLength);
    controller.enqueue(piece);
  };
  return body.pipeThrough(new TransformStream({ transform: count }));
}

/** Look at the first piece of a stream; return it, and a stream of the whole. */
async function split(body) {
  const reader = body.getReader();
  const { value: first = new Uint8Array(0) } = await reader.read();
  const pull = async (controller) => {
    const { value, done } = await reader.read();
    if (done) controller.close();
    else controller.enqueue(value);
  };
  const start = (controller) => controller.enqueue(first);
  return [first, new ReadableStream({ start, pull, cancel: (why) => reader.cancel(why) })];
}
