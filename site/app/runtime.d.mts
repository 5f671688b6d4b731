// What stages/browser_files.py writes into runtime.mjs.
export const wasm: string;
export const image: string;
export const stdlib: string;
export const sizes: { wasm: number; image: number; stdlib: number };
export const tag: number;
export const version: string;
export const info: { abi_version: string; arch: string; platform: string; python: string };
export const packages: Record<string, { file_name: string }>;
export const frames: Record<string, string>;
