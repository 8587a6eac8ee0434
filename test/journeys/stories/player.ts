/** Plays a story with the program. */
import { expect } from "vitest";
import type { Stories } from "./account.ts";
import { playBulk, undoLastRun } from "./bulk.ts";
import { findWrites, readSummary } from "./checks.ts";
import { Scene } from "./scene.ts";
import type { Step, Story } from "./steps.ts";

/** @throws Error with everything that happened, and with the story as `STORY` takes it */
export async function playStory(service: Stories, story: Story): Promise<void> {
  const { variants, people, crowd, suppressed, steps } = story;
  const further = Array.from({ length: crowd }, (_, number) => ({
    key: `p${number}@example.com`,
    fields: { City: "Bergen" },
    lists: number % 2 ? ["Offers"] : [],
  }));
  const contents = { fields: ["City"], lists: ["News", "Offers"], tags: ["vip", "trial"] };
  const account = await service.open(variants, { ...contents, contacts: [...people, ...further] });
  const scene = new Scene(account);
  try {
    // Nobody who is there at the start can be taken for a contact that a run has created.
    await account.pass(60_000);
    for (const key of suppressed) await scene.suppress("suppress", key);
    for (const step of steps) await perform(scene, step);
  } catch (error) {
    const { message } = error as Error;
    const replay = `STORY='${JSON.stringify(story).replaceAll("'", "\\u0027")}'`;
    throw new Error([message, ...scene.log, replay].join("\n"), { cause: error });
  } finally {
    await account.close();
  }
}

async function perform(scene: Scene, step: Step): Promise<void> {
  if (step.step === "bulk") await playBulk(scene, step);
  else if (step.step === "others") await scene.others(step.act);
  else if (step.step === "export") await exportAndImport(scene);
  else if (step.step === "erase") await scene.erase(step.who);
  else if (step.step === "undo") await undoLastRun(scene, step.deletes);
  else await scene.suppress(step.step, step.who);
}

async function exportAndImport(scene: Scene): Promise<void> {
  const { account, suppressed } = scene;
  await account.pass(60_000);
  const shown = [...account.people()];
  const file = scene.newFile("export", "csv");
  const exported = await scene.ecm(["export", "--output-file", file]);
  expect(exported.code, "the exit code of an export").toBe(0);
  if (shown.length === 0) return;
  const ran = await scene.ecm(["import", file, "--yes", "--json"]);
  expect(findWrites(ran), "an export imported again").toEqual([]);
  expect(ran.code, "the exit code of its import").toBe(0);
  const skipped = shown.filter(([key]) => suppressed.has(key)).length;
  expect(readSummary(ran).rows).toMatchObject({ unchanged: shown.length - skipped, skipped });
}
