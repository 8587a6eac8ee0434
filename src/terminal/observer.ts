/** What is told of a command besides what the streams carry. */
import type { ShownCommand } from "../hint.ts";

/** What a program that runs commands in its own process is told besides what the streams carry. */
export interface Observer {
  /** Of a list that was shown in part. */
  page?(page: { total?: number; hasMore: boolean }): void;
  /** How a command that a hint shows is named to whoever reads it, where that is no shell. */
  formatCommand?(command: ShownCommand): string;
  /** Of a bulk run: how far it is, to be asked at any time. */
  progress?(readNow: () => { done: number; total?: number; what: string }): void;
}
