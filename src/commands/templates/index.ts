import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { templatePages } from "../../service/campaigns.ts";
import type { View } from "../../terminal/present.ts";
import { describeCommand } from "../shared/help-text.ts";
import { memberColumn, recordId } from "../shared/record-columns.ts";
import { addPageFlags, type PageFlags, showPages } from "../shared/record-list.ts";

const templateView: View<unknown> = {
  columns: [
    memberColumn("name"),
    memberColumn("subject"),
    memberColumn("updatedAt", { title: "updated", isTime: true }),
    memberColumn("_id", { title: "id", isWhole: true, isAside: true }),
    memberColumn("createdAt", { title: "created", isTime: true, optional: true }),
  ],
  id: recordId,
  empty: "No templates",
};

export function registerTemplates(templates: Command, context: Context): void {
  const command = templates
    .command("list")
    .description("list the email templates")
    .action((flags: PageFlags) =>
      showPages(context, flags, { things: "templates", view: templateView, pages: templatePages }),
    );
  describeCommand(addPageFlags(command, "templates"), {
    examples: ["ecm templates list", "ecm templates list --all --json"],
    output: "One row per template; in JSON formats the service's own objects, `[]` when there is none.",
  });
}
