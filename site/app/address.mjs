// The address of the page: which part of it is a scene's, and how it is written without touching what is not ours.
//
// On a page of many scenes keys are prefixed (admission.order=skip), on a page of one they are bare. Text is passed on
// as it stands: Python alone decodes and judges it.

const RESERVED = new Set(["lock", "theme", "lang", "predict", "compact", "freeze"]);

const parts = (search) => search.replace(/^\?/, "").split("&").filter(Boolean);
const nameOf = (part) => decoded(part.split("=", 1)[0]);

/** Percent-decode a key, or leave it where it cannot be. A plus is a plus. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The query of a scene as the address has it, bare; "" when it has none. */
export function read(search, scene, prefixed) {
  if (!prefixed) {
    return parts(search)
      .filter((part) => !RESERVED.has(nameOf(part)))
      .join("&");
  }
  const prefix = `${scene}.`;
  return parts(search)
    .filter((part) => nameOf(part).startsWith(prefix))
    .map((part) => nameOf(part).slice(prefix.length) + part.slice(part.split("=", 1)[0].length))
    .join("&");
}

/** The search text with a scene's part replaced; `known` are the bare keys that are the scene's. */
export function written(search, scene, prefixed, query, known) {
  const prefix = prefixed ? `${scene}.` : "";
  const isOurs = (name) => (prefixed ? name.startsWith(prefix) : known.has(name) && !RESERVED.has(name));
  const others = parts(search).filter((part) => !isOurs(nameOf(part)));
  const ours = parts(query).map((part) => prefix + part);
  const all = [...others, ...ours].join("&");
  return all && `?${all}`;
}

/** The keys of a query. */
export const keys = (query) => parts(query).map(nameOf);

/** A reserved key's value, the last one given, or "". */
export function option(search, name) {
  const given = parts(search).filter((part) => nameOf(part) === name);
  return given.length ? decoded(given[given.length - 1].slice(name.length + 1)) : "";
}
