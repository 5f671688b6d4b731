// What Python starts from: the compiled module, and the image of its memory.
import { download } from "./download.mjs";
import { image, sizes, wasm } from "./runtime.mjs";
import { keep, kept } from "./store.mjs";

/** How many bytes are to come before Python can start. */
export const total = sizes.wasm + sizes.image;

/** Load both; onBytes is told of every piece. The image is null where it cannot be had: Python starts plainly then. */
export async function load(onBytes) {
  const [module, buffer] = await Promise.all([loadModule(onBytes), loadImage(onBytes).catch(() => null)]);
  return { module, image: buffer };
}

async function loadModule(onBytes) {
  return WebAssembly.compileStreaming((await kept(wasm)) ?? (await download(wasm, "application/wasm", onBytes)));
}

async function loadImage(onBytes) {
  return ((await kept(image)) ?? (await download(image, "application/octet-stream", onBytes))).arrayBuffer();
}

/** Keep both decoded for the next visit. */
export function keepParts(buffer) {
  const headers = { "content-type": "application/octet-stream" };
  return keep([
    [wasm, () => download(wasm, "application/wasm")],
    ...(buffer ? [[image, async () => new Response(buffer, { headers })]] : []),
  ]);
}
