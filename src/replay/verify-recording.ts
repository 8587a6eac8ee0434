/** Whether the sandbox answers as the account of a recording did, and with which variants it would. */
import type { RecordedExchange } from "../recording/exchange.ts";
import { openSandbox } from "../sandbox/index.ts";
import { makeTemporaryFolder, removeTemporaryFolder } from "../sandbox/temporary-folder.ts";
import { findMatchingState } from "./matching-state.ts";
import { replay, type StepDifference, type VariantChoice } from "./replay.ts";
import { type FoundVariants, searchVariants } from "./search-variants.ts";
import { type Step, toSteps } from "./steps.ts";

export interface Verification {
  steps: Step[];
  differences: StepDifference[];
  found: FoundVariants;
}

export async function verifyRecording(
  exchanges: RecordedExchange[],
  given: VariantChoice,
  { now, signal }: { now: number; signal?: AbortSignal },
): Promise<Verification> {
  const steps = toSteps(exchanges);
  const state = findMatchingState(steps);
  const folder = await makeTemporaryFolder();
  try {
    const clock = { now: () => now, sleep: async () => {} };
    const limits = { hourlyLimit: 1_000_000_000, monthlyLimit: 1_000_000_000 };
    const sandbox = await openSandbox({ folder, clock, ...limits, isLogged: false });
    try {
      const replayWith = (variants: VariantChoice) => {
        signal?.throwIfAborted();
        return replay({ worlds: sandbox.worlds, steps, state, now }, { ...given, ...variants });
      };
      const differences = await replayWith({});
      return { steps, differences, found: await searchVariants(steps, differences, replayWith) };
    } finally {
      sandbox.close();
    }
  } finally {
    removeTemporaryFolder(folder);
  }
}
