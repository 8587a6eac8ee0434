/** Puts the lines of a plan into input order, although blocks of contacts are decided side by side. */
import type { PlanLine, PlanSink } from "./plan.ts";

export interface PlanRecorder {
  /** A row that is not the row of any contact; called while the rows are read. */
  pass(line: PlanLine): void;
  /** Everything passed since the last block, and the contacts that were read up to now, are one block. */
  seal(): PlanBlock;
  /** Writes what was passed after the last block. */
  end(): Promise<void>;
}

export interface PlanBlock {
  /** What was decided of the block's contacts. Returns when it is written, or waits for a block before it. */
  fill(lines: readonly PlanLine[]): Promise<void>;
}

export function createPlanRecorder(sink: PlanSink): PlanRecorder {
  let passed: PlanLine[] = [];
  const blocks: { lines?: PlanLine[] }[] = [];
  let writing = Promise.resolve();

  /** Blocks that are decided, up to the first that is not. */
  function flush(): Promise<void> {
    while (blocks[0]?.lines) {
      const { lines } = blocks.shift()!;
      writing = writing.then(async () => {
        for (const line of lines!) await sink(line);
      });
    }
    return writing;
  }

  return {
    pass: (line) => void passed.push(line),
    seal() {
      const before = passed;
      const block: { lines?: PlanLine[] } = {};
      passed = [];
      blocks.push(block);
      return {
        fill(lines) {
          // Contacts that no line names come last.
          block.lines = [...before, ...lines].sort((one, other) => placeOf(one) - placeOf(other));
          return flush();
        },
      };
    },
    async end() {
      blocks.push({ lines: passed });
      passed = [];
      await flush();
    },
  };
}

function placeOf({ line }: PlanLine): number {
  return line ?? Number.MAX_SAFE_INTEGER;
}
