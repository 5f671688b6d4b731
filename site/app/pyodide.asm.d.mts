// What we use of the npm package.
export default function createModule(settings: object): Promise<any>;
