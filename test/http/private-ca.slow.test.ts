/** A private certificate authority, as companies have: Node reads NODE_EXTRA_CA_CERTS when a process starts. */
import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { json, plainStructure, startHttpServer } from "../kit.ts";
import { missingTools } from "../recipes/kit.ts";
import { spawnEcm, temporaryFolder, temporaryHome, waitForResult } from "../support/ecm.ts";

const missing = missingTools(["openssl"]);
const told = missing.length > 0 ? ` (not tested: there is no ${missing.join(", ")} here)` : "";

/** An https server on loopback whose certificate a new authority has signed. */
async function startHttps() {
  const folder = await temporaryFolder();
  const openssl = (line: string) =>
    execFileSync("openssl", line.split(" "), { cwd: folder, stdio: "ignore" });
  const key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
  openssl(`req -x509 ${key} -keyout ca.key -out ca.pem -days 2 -subj /CN=Company`);
  openssl(`req ${key} -keyout own.key -out own.csr -subj /CN=localhost`);
  await writeFile(join(folder, "names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  const authority = "-CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names";
  openssl(`x509 -req -in own.csr -out own.pem ${authority}`);
  const tls = { key: await readFile(join(folder, "own.key")), cert: await readFile(join(folder, "own.pem")) };
  const server = await startHttpServer((_request, response) => json(response, 200, [plainStructure]), tls);
  return { ...server, authority: join(folder, "ca.pem") };
}

it.skipIf(missing.length > 0)(
  `a private authority is trusted when NODE_EXTRA_CA_CERTS names it; without it nothing is sent${told}`,
  async () => {
    const { baseUrl, authority, requests } = await startHttps();
    const env = { ...(await temporaryHome()), ECM_BASE_URL: baseUrl, ECM_API_KEY: "k".repeat(50) };
    const list = (more = {}) =>
      waitForResult(spawnEcm(["structure", "list", "-o", "id", "-q"], { ...env, ...more }));
    const refused = await list();
    expect(refused).toMatchObject({ code: 8, stdout: "" });
    expect(refused.stderr).toMatch(/certificate/i);
    expect(requests).toEqual([]);
    const listed = { code: 0, stdout: `${plainStructure._id}\n`, stderr: "" };
    expect(await list({ NODE_EXTRA_CA_CERTS: authority })).toEqual(listed);
  },
);
