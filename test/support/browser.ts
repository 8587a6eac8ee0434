/** Pages in a real browser; tests of them are skipped where there is none. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";

// It runs in the page, so it is no module of ours.
const contrastScript = readFileSync(join(import.meta.dirname, "contrasts-of-texts.js"), "utf8");
const program = process.env.CHROMIUM ?? "/usr/bin/chromium";

export interface OpenedPage {
  page: Page;
  /** What went wrong in it, and what it asked or said by itself. */
  complaints: string[];
  /** The addresses that it asked for. */
  requested: string[];
}

/** @param name of what is tested */
export function describeInBrowser(
  name: string,
  tests: (open: (options: BrowserContextOptions) => Promise<OpenedPage>) => void,
): void {
  const hasBrowser = existsSync(program);
  const reason = ` (skipped: no ${program}; install chromium, or name one in CHROMIUM)`;
  describe.skipIf(!hasBrowser)(`${name} in a browser${hasBrowser ? "" : reason}`, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
    });
    afterAll(() => browser?.close());
    tests(async (options) => {
      const page = await browser.newPage(options);
      onTestFinished(() => page.close());
      const complaints: string[] = [];
      const requested: string[] = [];
      page.on("console", (message) => complaints.push(message.text()));
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("dialog", (dialog) => {
        complaints.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on("request", (request) => requested.push(request.url()));
      return { page, complaints, requested };
    });
  });
}

/** Every text stands out from its ground (WCAG 2, 1.4.3). @param least texts that there are */
export async function expectContrasts(page: Page, least: number): Promise<void> {
  const contrasts = await page.evaluate<{ text: string; contrast: number }[]>(
    `(${contrastScript.replace(/;\s*$/, "")})()`,
  );
  expect(contrasts.length).toBeGreaterThan(least);
  expect(contrasts.filter(({ contrast }) => contrast < 4.5)).toEqual([]);
}
