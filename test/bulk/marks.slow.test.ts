/** A mark counts wherever it stands in a file, and is carried out only where it is understood. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { done, inputFile, refused, startAccount, temporaryFolder } from "../kit.ts";
import { down, enter } from "../support/typing.ts";

const [a, b, c] = ["a@example.com", "b@example.com", "c@example.com"];

/** An account of these, and who in it is active. */
async function startWith(...keys: string[]) {
  const account = await startAccount({ contents: { contacts: keys.map((key) => ({ key })) } });
  const active = async () => {
    const { stdout } = await account.ecm("contact search --status Active --all -o csv --columns key");
    return stdout.trim().split("\n").slice(1).sort();
  };
  return { ...account, active };
}

it.each([
  ["several addresses in one cell", '"g@example.org, h@example.org",yes'],
  ["a blank inside", "g@example .org,yes\nh@example.org; x,yes"],
  ["a remark", "g@example.org (old),yes\nh@example.org - left,yes"],
  ["an invisible mark inside", "g@exa\u200bmple.org,yes\n<h@example.org> <x@example.org>,yes"],
  ["(at)", "g (at) example.org,yes\nh[at]example.org,yes"],
  ["a line break between", '"g@example.org\nh@example.org",yes'],
  ["a sign between", "g@example.org:h@example.org,yes"],
  ["a name without a comma between", "Grace g@example.org,yes\nmailto:h@example.org?x=y z,yes"],
])("a row rejected for %s: every address that its key cell holds is marked", async (_name, rows) => {
  const { importing, keys } = await startAccount();
  const text = `Email,Unsubscribed\n${rows}\ng@example.org,no\nH@example.org,\nok@example.org,no\n`;
  const result = await importing(text, "--max-rejects 100%");
  expect(await keys()).toEqual(["ok@example.org"]);
  expect(result.consent.not_subscribed).toBe(2);
  expect(result.stderr).toMatch(/Unsubscribed: \d of \d rows say?s? "yes": not created/);
});

it.each([
  ["a quote without its other half", 'g@example.org,"yes" really,x\n'],
  ["an unquoted comma before the mark", "g@example.org,no,Lovelace, Ada,yes\n"],
  ["an unquoted comma behind the mark", "g@example.org,yes,Ada,no,Lovelace\n"],
])("a row rejected for %s: its contact is marked", async (_name, row) => {
  const { importing, keys } = await startAccount();
  const text = `Email,Opt-Out,First Name,Unsubscribed\n${row}g@example.org,no,G,no\nok@example.org,no,O,no\n`;
  const result = await importing(text, "--max-rejects 100%");
  expect(await keys()).toEqual(["ok@example.org"]);
  expect(result).toMatchObject({ code: 3, consent: { not_subscribed: 1 } });
});

it.each(["runs retry last", "import FILE --ignore-unmapped"])("rejects keep all marks: %s", async (how) => {
  const { run, importing, keys } = await startAccount();
  // The rejected rows alone have no word that makes a column of consent.
  const text =
    "Email,Status,Opt in\na@example.org,unsubscribed,no\na@example.org,active,yes,more\nb at example.org,inactive,yes\nc at example.org,active,\nd at example.org,active,yes\ne@example.org,Prospect,yes,\nf at example.org,Prospect,yes\ne@example.org,active,yes,more\n";
  const { rows, rejects } = await importing(text, "--ignore-unmapped");
  expect(rows).toMatchObject({ rejected: 6, skipped: 2, created: 0 });
  const fixed = (await readFile(rejects!, "utf8")).replaceAll(" at ", "@").replaceAll(",more", "");
  expect(fixed.split("\n").map((line) => line.split(",").at(-1))).toEqual([
    "ecm_not_subscribed",
    "another row of the input says so",
    "Status: inactive",
    "Opt in: (empty)",
    "",
    "? Status: Prospect",
    "? another row of the input says so",
    "",
  ]);
  await writeFile(rejects!, fixed);
  const again = await run(how.replace("FILE", rejects!));
  expect(again.rows, again.stderr).toMatchObject({ created: 1, skipped: 5, rejected: 0 });
  expect(await keys()).toEqual(["d@example.org"]);
});

it("a rejects file can say that somebody is subscribed all the same, and unsubscribes nobody where it is unclear", async () => {
  const { ecm, run, active } = await startWith(a, b);
  const path = await inputFile(
    `Email,ecm_not_subscribed\n${a},? Status: Prospect\n${b},Status: left\n${c},\n`,
  );
  expect((await run(`import ${path}`)).rows).toMatchObject({ created: 1, unchanged: 2 });
  await ecm(`contact unsubscribe --keys ${path} --marked-rows --yes`);
  expect(await active()).toEqual([a, c]);
});

it.each([
  ["its reason, moved by an unquoted comma", ",Ada, Countess,2,key_syntax,no address,? Status: L\n"],
  [
    "its reason, moved by an unquoted comma, before a blank cell",
    ",Ada, Countess,2,key_syntax,no address,\n",
  ],
  ["a surplus cell behind an unclear mark", ",Ada,2,key_syntax,no address,? Status: L,more\n"],
])("a rejects file unsubscribes nobody for %s", async (_name, cells) => {
  const { ecm, active } = await startWith(a, b);
  const text = `Email,First Name,ecm_line,ecm_error,ecm_message,ecm_not_subscribed\n${a}${cells}${a},Ada,3,key_syntax,no address,\n${b},B,4,key_syntax,no address,Status: left\n`;
  await ecm(`contact unsubscribe --keys ${await inputFile(text)} --marked-rows --yes`);
  expect(await active()).toEqual([a]);
});

it("a cell that cannot be understood keeps from creating, and unsubscribes nobody", async () => {
  const { ecm, active } = await startWith(a, b, c);
  const path = await inputFile(
    `Email,Unsubscribed\n${a},yes\n${b},-1\n${c},maybe\nnew@example.com,perhaps\n`,
  );
  const { stderr } = await ecm(`import ${path}`);
  for (const text of [
    'Line 3: Unsubscribed says "-1", which cannot be understood; counted as not subscribed',
    "3 contacts are active in the account although the file says not subscribed",
  ])
    expect(stderr).toContain(text);
  expect(stderr).toMatch(/Unsubscribe them with: ecm contact unsubscribe .*--marked-rows/);
  await ecm(`contact unsubscribe --keys ${path} --marked-rows --yes`);
  expect(await active()).toEqual([b, c]);
});

it("a cell that cannot be understood is not chosen by --marked-rows, as is said", async () => {
  const { run, active } = await startWith(a, b, c);
  const path = await inputFile(`Email,Newsletter\n${a},ja\n${b},nein\n${c},vielleicht\n`);
  const flags = "--marked-rows --consent-column Newsletter=opt-in --yes";
  const { stderr, rows } = await run(`contact unsubscribe --keys ${path} ${flags}`);
  expect(stderr).toContain('Newsletter: 1 of 3 rows says "nein": chosen\n');
  expect(stderr).toContain('Line 4: Newsletter says "vielleicht", which cannot be understood; not chosen\n');
  expect(rows).toMatchObject({ updated: 1 });
  expect(await active()).toEqual([a, c]);
});

it("a column that may be consent is understood whole, or stops every command before a request, --yes and --ignore-unmapped or not", async () => {
  const { ecm, importing, keys, sandbox } = await startAccount();
  await importing(`Email,Keine Einwilligung\n${a},no\n${b},yes\n`, "--ignore-unmapped");
  expect(await keys()).toEqual([a]);
  const path = await inputFile(`Email,Consent gone\n${a},no\n${b},yes\n`);
  const before = sandbox.admin.requests().length;
  for (const command of [
    "import FILE --ignore-unmapped --yes",
    "import FILE --dry-run --ignore-unmapped",
    "import FILE --map 'Consent gone=First Name'",
    "lists sync News FILE --create --yes",
    "contact mutate --keys FILE --add-list News --yes",
    "contact unsubscribe --keys FILE --yes",
    "contact delete --keys FILE --yes --marked-rows",
  ]) {
    const counts = "read as opt-in it leaves out 1 of 2 rows, as opt-out 1";
    await refused(ecm(command.replace("FILE", path)), 2, counts, "'Consent gone=opt-out'");
  }
  expect(sandbox.admin.requests()).toHaveLength(before);
  await ecm(`import ${path} --consent-column 'Consent gone=opt-in'`);
  expect(await keys()).toEqual([a, b]);
});

it("a column that may be consent is asked about first at a terminal, with what each reading leaves out", async () => {
  const { ecm, keys } = await startAccount();
  const path = await inputFile(`Email,Stadt,Newsletter\n${a},Oslo,ja\n${b},Rom,nein\n${c},Rom,nein\n`);
  const dialog = await ecm(`import ${path}`, {
    terminalColumns: 120,
    typed: [
      ['Does "Newsletter" (ja, nein) say who is subscribed?', enter],
      ["Is this right?", enter],
      ["Add these contacts to a list?", enter],
      ["write to", `y${enter}`],
    ],
  });
  expect(dialog.stderr).toContain("a yes means subscribed (leaves out 2 of 3 rows)");
  expect(dialog.stderr).toContain("a yes means not subscribed (leaves out 1 of 3 rows)");
  const answers = await readFile(path.replace(".csv", ".mapping.yaml"), "utf8");
  expect(answers).toContain("Newsletter: consent=opt-in");
  expect(await keys()).toEqual([a]);
});

it.each(["unsubscribe", "delete"])("%s: a table that marks some rows is not taken whole", async (verb) => {
  const { ecm, run, active } = await startWith(a, b, c);
  const command = `contact ${verb} --keys ${await inputFile(`Email,unsubscribed\n${a},yes\n${b},no\n${c},maybe\n`)} --yes`;
  const hint = `Pass --marked-rows to ${verb} those alone`;
  await refused(ecm(command), 2, "The file marks 1 of 3 rows as not subscribed", hint);
  expect(await active()).toHaveLength(3);
  const marked = await run(`${command} --marked-rows`);
  expect(marked.codes.skipped).toEqual({ not_selected: 2 });
  expect(await active()).toEqual([b, c]);
  await ecm(`${command} --all-rows`);
  expect(await active()).toEqual([]);
});

it("a table that marks some rows is asked about at a terminal", async () => {
  const { ecm, active } = await startWith(a, b);
  const path = await inputFile(`Email,unsubscribed\n${a},yes\n${b},no\n`);
  const unsubscribe = (whom: string, ...further: [string, string][]) =>
    ecm(`contact unsubscribe --keys ${path}`, {
      terminalColumns: 120,
      typed: [["Whom do you want to unsubscribe?", whom], ...further],
    });
  expect((await unsubscribe(down + down + enter)).code).toBe(1);
  expect(await active()).toHaveLength(2);
  const yes: [string, string] = ["Unsubscribe 1 contact?", `y${enter}`];
  await unsubscribe(enter, yes);
  expect(await active()).toEqual([b]);
  await unsubscribe(down + enter, yes);
  expect(await active()).toEqual([]);
});

it("of a table that marks all rows, or has no column of consent, every row is meant", async () => {
  const { ecm, active } = await startWith(a, b, c);
  const unsubscribe = (path: string, flags = "") => ecm(`contact unsubscribe --keys ${path} --yes ${flags}`);
  await done(unsubscribe(await inputFile(`Email,unsubscribed\n${a},yes\n`)));
  const none = await inputFile(`Email,City\n${b},Oslo\n`);
  await done(unsubscribe(none));
  expect(await active()).toEqual([c]);
  const exported = join(await temporaryFolder(), "ours.csv");
  await done(ecm(`export --status Active --output-file ${exported}`));
  await done(unsubscribe(exported));
  expect(await active()).toEqual([]);
  await refused(unsubscribe(none, "--marked-rows"), 2, "no column that says who is not subscribed");
});

it("of a table whose column marks nobody, it is asked, and a deletion means every row", async () => {
  const { ecm, keys } = await startWith(a, b);
  const nobody = `--keys ${await inputFile(`Email,unsubscribed\n${a},no\n`)}`;
  for (const line of ["contact unsubscribe --yes", "suppressions add"])
    await refused(ecm(`${line} ${nobody}`), 2, "The file marks 0 of 1 rows as not subscribed");
  await done(ecm(`contact delete --yes ${nobody}`));
  expect(await keys()).toEqual([b]);
});
