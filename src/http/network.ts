/** The network's door: one HTTP exchange through undici. */
import type { Transport } from "../wire.ts";

export interface NetworkTransport {
  transport: Transport;
  close(): Promise<void>;
}

/** @param purpose `single` starts fast; `bulk` is for thousands of requests over up to `connections` sockets */
export async function openNetwork(
  _purpose: "single" | "bulk",
  _connections?: number,
): Promise<NetworkTransport> {
  throw new Error("not built yet");
}
