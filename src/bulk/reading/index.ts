/** Reading: file → rows. What other rooms of the engine use. */
export { readRows } from "./read-rows.ts";
export { understandInput, understandKeys } from "./understand.ts";
