/** The one outside line: signs a request, sends it, repeats it where the retry rule allows, reads the limits. */
import type { Clock, Send, SendEvent, Transport } from "../wire.ts";

export interface SendConfiguration {
  /** Without a trailing slash. */
  baseUrl: string;
  apiKey: string;
  transport: Transport;
  clock: Clock;
  timeoutSeconds: number;
  maxWaitSeconds: number;
  readOnly: boolean;
  signal: AbortSignal;
  /** Sees every event of every request: for `--verbose`, the rate-limit line, the stored limits. */
  onEvent?: (event: SendEvent) => void;
}

export function createSend(_configuration: SendConfiguration): Send {
  throw new Error("not built yet");
}
