/** How lists look to people. */
import type { View } from "../../../terminal/present.ts";
import type { ContactList } from "../../../wire.ts";

export const listView: View<ContactList> = {
  columns: [
    { name: "name", value: (list) => list.name },
    { name: "totalContacts", title: "contacts", value: (list) => list.totalContacts },
    { name: "_id", title: "id", value: (list) => list._id, isWhole: true, isAside: true },
    { name: "type", value: (list) => list.type, optional: true },
    { name: "createdAt", title: "created", value: (list) => list.createdAt, optional: true, isTime: true },
    { name: "updatedAt", title: "updated", value: (list) => list.updatedAt, optional: true, isTime: true },
    { name: "__v", value: (list) => list.__v, optional: true },
  ],
  id: (list) => list._id,
};
