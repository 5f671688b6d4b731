// The first script of every page, with little to load: it sets Python going while the page is still being read.
// A page of one scene in somebody else's page waits until it is seen; app.mjs starts Python then.
import { Interpreter } from "./interpreter.mjs";

export const interpreter = new Interpreter();
export const atOnce = document.documentElement.dataset.page !== "embed";
if (atOnce) interpreter.start();
