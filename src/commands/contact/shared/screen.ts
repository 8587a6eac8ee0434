/** One contact as people read it: who, then its values, then its dates and ids. */

import { findStatus } from "../../../api/contacts.ts";
import { formatDayAndTime } from "../../../moments.ts";
import type { Naming } from "../../../service/account.ts";
import { createContactHeaders } from "../../../service/contact-columns.ts";
import { escapeControls } from "../../../terminal/escape.ts";
import { createStyle } from "../../../terminal/style.ts";
import { cut, measureWidth, wrap } from "../../../terminal/text-width.ts";
import type { Contact } from "../../../wire.ts";

export interface ContactScreen {
  text: string;
  /** Labels of the fields that have no value: they are not shown. */
  emptyFields: string[];
}

/** @param columns of the screen; longer values wrap with a hanging indent */
export function formatContact(
  contact: Partial<Contact>,
  { structure, lists }: Naming,
  { columns, isColored, now }: { columns: number; isColored: boolean; now: Date },
): ContactScreen {
  const { bold, dim, green, yellow } = createStyle(isColored);
  const values = new Map(contact.fields?.map(({ _id, value }) => [_id, String(value ?? "")]));
  const fieldPairs = [...createContactHeaders(structure).fields].map(
    ([id, name]): Pair => [name, values.get(id) ?? ""],
  );
  for (const [id, value] of values) {
    if (structure.fields.every(({ _id }) => _id !== id)) fieldPairs.push([id, value]);
  }
  const listNames = contact.lists?.map(({ _id }) => lists.find((list) => list._id === _id)?.name ?? _id);
  const tagLabels = contact.tags?.map(
    ({ _id }) => structure.tags?.find((tag) => tag._id === _id)?.label ?? _id,
  );
  const pairs: Pair[] = [
    ...fieldPairs,
    ["Lists", listNames?.join(", ") ?? ""],
    ["Tags", tagLabels?.join(", ") ?? ""],
  ];
  const filledPairs = pairs.filter(([, value]) => value !== "");
  const facts = [
    toPairs(
      "Created",
      formatDayAndTime(contact.createdAt ?? "", now),
      "Updated",
      formatDayAndTime(contact.updatedAt ?? "", now),
    ),
    toPairs("Id", contact._id ?? "", "Version", contact.__v === undefined ? "" : String(contact.__v)),
  ].filter((each) => each.length > 0);
  const names = [...filledPairs, ...facts.map(([first]) => first!)].map(([name]) =>
    measureWidth(escapeControls(name)),
  );
  const nameWidth = Math.min(Math.max(0, ...names), Math.floor(columns / 3));
  const formatTitle = (name: string) => {
    const label = cut(escapeControls(name), nameWidth);
    return `${bold(label)}${" ".repeat(nameWidth - measureWidth(label) + gap)}`;
  };
  const below = " ".repeat(nameWidth + gap);
  const rows = filledPairs.map(([name, value]) => {
    const room = Math.max(minRoom, columns - nameWidth - gap);
    return `${formatTitle(name)}${wrap(escapeControls(value), room).join(`\n${below}`)}`;
  });
  const last = facts.map(([first, ...rest]) => {
    const [name, value] = first!;
    const more = rest.map(([other, text]) => `   ${bold(other)}  ${text}`);
    return `${formatTitle(name)}${escapeControls(value)}${more.join("")}`;
  });
  const status = findStatus(contact);
  const paint = status?.primary.toLowerCase() === "active" ? green : yellow;
  const why = status?.secondary && status.primary.toLowerCase() !== "active" ? `, ${status.secondary}` : "";
  const state = status ? `   ${paint(escapeControls(`${status.primary.toLowerCase()}${why}`))}` : "";
  const head = `${bold(escapeControls(contact.key ?? contact._id ?? ""))}${state}`;
  return {
    text: `${[head, "", ...rows, ...last.map((each) => dim(each))].join("\n")}\n`,
    emptyFields: fieldPairs.filter(([, value]) => value === "").map(([name]) => name),
  };
}

type Pair = [name: string, value: string];

const gap = 3;
const minRoom = 20;

/** Two facts that share a line; those that are not known are left out. */
function toPairs(...words: [string, string, string, string]): Pair[] {
  const pairs: Pair[] = [
    [words[0], words[1]],
    [words[2], words[3]],
  ];
  return pairs.filter(([, value]) => value !== "");
}
