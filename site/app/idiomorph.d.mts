// What we use of the npm package.
export const Idiomorph: { morph(old: Element, content: Element, options: object): Element[] };
