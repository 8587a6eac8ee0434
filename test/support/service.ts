/** A service that answers as a test says, and `ecm` with a key to it. */
import { ecmWith, temporaryHome } from "./ecm.ts";
import { type Answerer, startHttpServer } from "./http-server.ts";
import { testKey } from "./test-send.ts";

export async function startService(answer: Answerer) {
  const server = await startHttpServer(answer);
  const env: Record<string, string> = {
    ...(await temporaryHome()),
    ECM_BASE_URL: server.baseUrl,
    ECM_API_KEY: testKey,
  };
  return { server, env, ecm: ecmWith(env) };
}
