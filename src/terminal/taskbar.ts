/** Progress in the tab or the taskbar (OSC 9;4), for terminals that are known to show it. Pure. */

export interface Share {
  /** From 0 to 1; undefined where it is not known. */
  done: number | undefined;
  isWaiting: boolean;
}

/** @param share undefined: nothing is under way any more */
export function formatTaskbar(share: Share | undefined): string {
  if (!share) return "\x1b]9;4;0\x07";
  if (share.done === undefined) return "\x1b]9;4;3\x07";
  const percent = Math.floor(Math.min(1, Math.max(0, share.done)) * 100);
  // A paused bar while the hour is waited for.
  return `\x1b]9;4;${share.isWaiting ? 4 : 1};${percent}\x07`;
}
