/**
 * Random stories of an account: imports and other bulk commands, what others do meanwhile, and what goes wrong. An
 * oracle that knows the documents alone says what has to become of the account, and what a summary has to say.
 *
 *     PROPERTY_RUNS=100 PROPERTY_SEED=random npx vitest run test/journeys/stories.slow.test.ts
 *
 * tries more stories, for a night. A story that fails is printed with all commands and requests, and as a line
 * `STORY='…'` with which this test plays that story alone.
 */
import fc from "fast-check";
import { it } from "vitest";
import { runs } from "../support/runs.ts";
import { startStories } from "./stories/account.ts";
import { playStory } from "./stories/player.ts";
import { type Story, story } from "./stories/steps.ts";

it("what becomes of an account is what the documents say", { timeout: 0 }, async () => {
  const service = await startStories();
  if (process.env.STORY !== undefined) {
    await playStory(service, JSON.parse(process.env.STORY) as Story);
    return;
  }
  await fc.assert(
    fc.asyncProperty(story, (each) => playStory(service, each)),
    { numRuns: runs(10) },
  );
});
