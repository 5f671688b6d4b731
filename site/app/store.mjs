// What was decoded once is kept for the next visit, where the browser lets us. Everything here may fail, and nothing
// depends on it: storage throws in sandboxed frames, may be full, and may be cleared at any time.
import { image, wasm } from "./runtime.mjs";

const FAMILY = "locker-lesson ";
const OURS = FAMILY + [wasm, image].map((url) => url.split("/").pop()).join(" ");

/** A file kept from an earlier visit, or undefined. */
export async function kept(url) {
  try {
    return await caches.match(url, { cacheName: OURS });
  } catch {
    return undefined;
  }
}

/** Keep decoded files for the next visit, and drop those of other versions. */
export async function keep(responses) {
  try {
    const cache = await caches.open(OURS);
    for (const [url, make] of responses) if (!(await cache.match(url))) await cache.put(url, await make());
    for (const name of await caches.keys()) if (name.startsWith(FAMILY) && name !== OURS) await caches.delete(name);
  } catch {
    // the next visit decodes again
  }
}

/** Forget what is kept, which may be what is wrong. */
export async function forget() {
  try {
    await caches.delete(OURS);
  } catch {
    // there was nothing
  }
}
