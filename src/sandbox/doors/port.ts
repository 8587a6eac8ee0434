/** The door behind a port: the same application over HTTP. */
import type { AddressInfo } from "node:net";
import { createAdaptorServer, type HttpBindings } from "@hono/node-server";
import { UsageError } from "../../errors.ts";
import type { App } from "../app.ts";

/** @throws UsageError when the address cannot be listened on */
export async function openPort(
  app: App,
  { host, port }: { host: string; port: number },
): Promise<{ baseUrl: string; close(): Promise<void> }> {
  const server = createAdaptorServer({
    fetch: (request, env) => {
      const { incoming, outgoing } = env as HttpBindings;
      return app.fetch(request, {
        address: incoming.socket.remoteAddress ?? "",
        incoming,
        outgoing,
      } as never);
    },
    overrideGlobalObjects: false,
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        new UsageError(
          `cannot listen on ${host}, port ${port}: ${error.message}`,
          "choose another with --host and --port; port 0 takes any free one",
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
  const { address, family, port: actualPort } = server.address() as AddressInfo;
  return {
    baseUrl: `http://${reachable(address, family)}:${actualPort}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ("closeAllConnections" in server) server.closeAllConnections();
      }),
  };
}

/** An address to call: "every address" is reached through the loopback one. */
function reachable(address: string, family: string): string {
  if (address === "0.0.0.0") return "127.0.0.1";
  if (address === "::") return "[::1]";
  return family === "IPv6" ? `[${address}]` : address;
}
