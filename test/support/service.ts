/** A service that answers as a test says, and `ecm` with a key to it. */
import { ecmWith, temporaryHome } from "./ecm.ts";
import { type Answerer, startHttpServer } from "./http-server.ts";
import { testKey } from "./test-send.ts";

/** A structure without fields. */
export const plainStructure = {
  _id: "64f0c2a9e1b2c3d4e5f60718",
  label: "Default",
  keyName: "Email",
  keyType: "email",
  fields: [],
  tags: [],
  __v: 1,
};

export async function startService(answer: Answerer) {
  const server = await startHttpServer(answer);
  const env: Record<string, string> = {
    ...(await temporaryHome()),
    ECM_BASE_URL: server.baseUrl,
    ECM_API_KEY: testKey,
  };
  return { server, env, ecm: ecmWith(env) };
}
