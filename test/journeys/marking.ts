/** What the tests of `--unsubscribe-marked` share. It takes two writes for one contact: each happens once, whenever the run is disturbed. */
import { expect } from "vitest";
import { contactsIn, inputFile, summaryOf } from "../bulk/kit.ts";
import { makePlanFile } from "../bulk/plan-kit.ts";
import { carriedOutTwice, startWitness, type Witness } from "./witness.ts";

/** The import itself, or the plan of one, applied. */
export type How = "import" | "apply";

/** @returns the command that is disturbed, and resumed by the same words */
export async function scene(how: How): Promise<{ witness: Witness; command: string[] }> {
  const witness = await startWitness();
  const people = "a@example.com,Old\nb@example.com,Old\nc@example.com,Old\n";
  await witness.ecm(["import", await inputFile(`Email,First Name\n${people}`)]);
  const path = await inputFile(
    "Email,First Name,Opt-Out\na@example.com,New,yes\nb@example.com,Old,yes\nc@example.com,New,no\nd@example.com,D,yes\n",
  );
  const command = ["import", path, "--unsubscribe-marked"];
  if (how === "import") return { witness, command: [...command, "--json"] };
  const { file } = await makePlanFile(witness, command);
  return { witness, command: ["apply", file, "--yes", "--json"] };
}

/** What the account holds, and what the last run says of it. */
export async function outcome(witness: Witness, stdout: string) {
  const inactive = await witness.ecm(["contact", "search", "--status", "inactive", "--all", "--json"]);
  const { rows, consent, codes } = summaryOf({ code: 0, stdout, stderr: "" });
  return {
    rows,
    consent,
    codes,
    inactive: (JSON.parse(inactive.stdout) as { key: string }[]).map(({ key }) => key).sort(),
    names: [...(await contactsIn(witness))].map(([key, { fields }]) => [key, fields["First Name"]]),
    twice: carriedOutTwice(witness.writes, "mutate"),
  };
}

export async function undisturbed(how: How) {
  const { witness, command } = await scene(how);
  const before = witness.arrived();
  const { stdout } = await witness.ecm(command);
  return { requests: witness.arrived() - before, expected: await outcome(witness, stdout) };
}

/** Loses the answer of the run's nth request, and goes on until it has ended. */
export async function expectLost(
  how: How,
  when: "before" | "after",
  request: number,
  expected: Awaited<ReturnType<typeof outcome>>,
): Promise<void> {
  const { witness, command } = await scene(how);
  const at = witness.arrived() + request;
  witness.onRequest = (moment) => (moment.count === at && moment.when === when ? "drop" : undefined);
  let result = await witness.ecm(command);
  witness.onRequest = () => undefined;
  if (result.code !== 0) result = await witness.ecm(command);
  expect(await outcome(witness, result.stdout), `request ${request} lost ${when}`).toEqual(expected);
}
