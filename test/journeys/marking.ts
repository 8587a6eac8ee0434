/**
 * What the tests of `--unsubscribe-marked` share. It takes two writes for one contact: each happens once,
 * whenever the run is disturbed.
 */
import { expect } from "vitest";
import { inputFile, parseSummary, readContacts } from "../bulk/kit.ts";
import { makePlanFile } from "../bulk/plan-kit.ts";
import { findRepeatedWrites, type RecordingProxy, startRecordingProxy } from "./recording-proxy.ts";

/** The import itself, or the plan of one, applied. */
export type How = "import" | "apply";

/** @returns the command that is disturbed, and resumed by the same words */
export async function startScene(how: How): Promise<{ proxy: RecordingProxy; command: string[] }> {
  const proxy = await startRecordingProxy();
  const people = "a@example.com,Old\nb@example.com,Old\nc@example.com,Old\n";
  await proxy.ecm(["import", await inputFile(`Email,First Name\n${people}`)]);
  const path = await inputFile(
    "Email,First Name,Opt-Out\na@example.com,New,yes\nb@example.com,Old,yes\nc@example.com,New,no\nd@example.com,D,yes\n",
  );
  const command = ["import", path, "--unsubscribe-marked"];
  if (how === "import") return { proxy, command: [...command, "--json"] };
  const { file } = await makePlanFile(proxy, command);
  return { proxy, command: ["apply", file, "--yes", "--json"] };
}

/** What the account holds, and what the last run says of it. */
export async function readOutcome(proxy: RecordingProxy, stdout: string) {
  const inactive = await proxy.ecm(["contact", "search", "--status", "inactive", "--all", "--json"]);
  const { rows, consent, codes } = parseSummary({ code: 0, stdout, stderr: "" });
  return {
    rows,
    consent,
    codes,
    inactive: (JSON.parse(inactive.stdout) as { key: string }[]).map(({ key }) => key).sort(),
    names: [...(await readContacts(proxy))].map(([key, { fields }]) => [key, fields["First Name"]]),
    twice: findRepeatedWrites(proxy.writes, "mutate"),
  };
}

export async function runUndisturbed(how: How) {
  const { proxy, command } = await startScene(how);
  const before = proxy.arrived();
  const { stdout } = await proxy.ecm(command);
  return { requests: proxy.arrived() - before, expected: await readOutcome(proxy, stdout) };
}

/** Loses the answer of the run's nth request, and goes on until it has ended. */
export async function expectLost(
  how: How,
  when: "before" | "after",
  request: number,
  expected: Awaited<ReturnType<typeof readOutcome>>,
): Promise<void> {
  const { proxy, command } = await startScene(how);
  const at = proxy.arrived() + request;
  proxy.onRequest = (moment) => (moment.count === at && moment.when === when ? "drop" : undefined);
  let result = await proxy.ecm(command);
  proxy.onRequest = () => undefined;
  if (result.code !== 0) result = await proxy.ecm(command);
  expect(await readOutcome(proxy, result.stdout), `request ${request} lost ${when}`).toEqual(expected);
}
