/** Writing at once. A full disk may take a part of a single write without an error. */
import { writeSync } from "node:fs";

/** All of the bytes, or it throws. @param place in the file; without one, at its end or where it stands */
export function writeWhole(descriptor: number, bytes: Uint8Array, place?: number): void {
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(descriptor, bytes, at, bytes.length - at, place === undefined ? null : place + at);
  }
}
