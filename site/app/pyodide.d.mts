// What we use of the npm package.
export function loadPyodide(options: object): Promise<any>;
