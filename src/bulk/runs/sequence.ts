/**
 * In which order the runs of a state folder began. Each has a number, one higher than any before it: a clock
 * may be set back, and then the time of a run says nothing about which was the last.
 */
import { open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../../disk/atomic-file.ts";
import { makeFolder } from "../../disk/make-folder.ts";
import { fileNames } from "./folder.ts";

/** An empty file for each number that was given; the highest always stays. */
const numbersFolder = "run-numbers";

/**
 * Gives the next number. Of several processes each gets another one: only one of them can create its file.
 * @param known the highest number of a run, should the folder of numbers be lost
 */
export async function takeRunNumber(stateFolder: string, lastNumber: number): Promise<number> {
  const folder = join(stateFolder, numbersFolder);
  makeFolder(folder);
  for (;;) {
    const number = Math.max(lastNumber, ...(await readNumbers(folder))) + 1;
    if (!(await tryCreate(join(folder, String(number))))) continue;
    const all = await readNumbers(folder);
    // Its file had been there before, and was removed since.
    if (Math.max(...all) > number) continue;
    for (const lower of all) if (lower < number) await rm(join(folder, String(lower)), { force: true });
    return number;
  }
}

async function readNumbers(folder: string): Promise<number[]> {
  return (await readdir(folder)).filter((name) => /^[1-9]\d{0,14}$/.test(name)).map(Number);
}

async function tryCreate(path: string): Promise<boolean> {
  try {
    await (await open(path, "wx", 0o600)).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** A file of its own: a run whose manifest cannot be read has its place in the order, too. */
export async function writeRunNumber(runFolder: string, number: number): Promise<void> {
  await writeAtomically(join(runFolder, fileNames.number), `${number}\n`);
}

/** Undefined for a run of a version that gave no numbers, and where it cannot be read. */
export async function readRunNumber(runFolder: string): Promise<number | undefined> {
  const text = await readFile(join(runFolder, fileNames.number), "utf8").catch(() => "");
  return /^[1-9]\d{0,14}\n$/.test(text) ? Number(text) : undefined;
}
