/** A process may open a folder as often as it likes while others use it. */
import { test } from "vitest";
import { callToolsBesideWrites, startAndStopBesideWrites } from "./shared-folder.ts";

test("A process that starts and stops a sandbox leaves the writes of another process alone", async () => {
  await startAndStopBesideWrites(1);
});

test("A server for agents leaves the writes of commands alone", async () => {
  await callToolsBesideWrites(1);
});

test("Again and again: a process that starts and stops a sandbox leaves the writes of another process alone", async () => {
  await startAndStopBesideWrites(5);
});

test("Again and again: a server for agents leaves the writes of commands alone", async () => {
  await callToolsBesideWrites(5);
});
