// What early.js leaves for app.mjs.
declare global {
  var lessonEarly: { worker: Worker | null; events: Event[] };
}
export {};
