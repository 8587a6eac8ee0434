/** Nobody whom a file marks as gone is created, by any door. */
import { describe, expect, it } from "vitest";
import { startSandbox } from "../support/sandbox.ts";
import { contactsIn, inputFile, summaryOf } from "./kit.ts";

describe("what used to create people who had left, without a word", () => {
  it("a Status column of words like unsubscribed, with --ignore-unmapped", async () => {
    const service = await startSandbox();
    const path = await inputFile(
      "Email,Status,Shoe Size\nada@example.com,subscribed,38\nbob@example.com,unsubscribed,41\ncy@example.com,Unsubscribed,40\n",
    );
    const result = await service.ecm(["import", path, "--ignore-unmapped", "--json"]);
    expect(result.code).toBe(0);
    expect([...(await contactsIn(service)).keys()]).toEqual(["ada@example.com"]);
    expect(summaryOf(result).codes.skipped).toEqual({ not_subscribed: 2 });
    expect(result.stderr).toContain('Status: 2 of 3 rows say "unsubscribed": not created');
  });

  it("an Opt-In column of ja and nein, through the mapping questions", async () => {
    const service = await startSandbox();
    const path = await inputFile("Email,Opt-In,Schuhgröße\nada@example.com,ja,38\nbob@example.com,nein,41\n");
    const result = await service.ecm(["import", path], {
      terminalColumns: 100,
      typed: [
        ['"Opt-In"', "\r"],
        ["Schuhgröße", "\r"],
        ["Save these answers", "n"],
        ["", "\r"],
        ["?", "y\r"],
      ],
    });
    expect(result.stderr).toContain("says who is subscribed");
    expect([...(await contactsIn(service)).keys()]).toEqual(["ada@example.com"]);
    // Without a question to ask, it is read by itself.
    const plain = await inputFile("Email,Opt-In\ncy@example.com,ja\ndora@example.com,nein\n");
    const silent = await service.ecm(["import", plain, "--json"]);
    expect(silent.stderr).toContain('Opt-In: 1 of 2 rows says "nein": not created');
    expect([...(await contactsIn(service)).keys()]).toEqual(["ada@example.com", "cy@example.com"]);
  });

  it("--consent-column Unsubscribed, also on a recognised Brevo export", async () => {
    const service = await startSandbox();
    const plain = await inputFile(
      "Email,Unsubscribed\nada@example.com,no\nbob@example.com,yes\ncy@example.com,\n",
    );
    await service.ecm(["import", plain, "--consent-column", "Unsubscribed"]);
    expect([...(await contactsIn(service)).keys()]).toEqual(["ada@example.com", "cy@example.com"]);
    const brevo = await inputFile(
      "CONTACT ID;EMAIL;EMAIL_BLACKLISTED;ADDED_TIME\n1;dora@example.com;No;x\n2;eve@example.com;Yes;x\n",
    );
    await service.ecm(["import", brevo, "--consent-column", "EMAIL_BLACKLISTED"]);
    expect([...(await contactsIn(service)).keys()]).toEqual([
      "ada@example.com",
      "cy@example.com",
      "dora@example.com",
    ]);
  });
});
