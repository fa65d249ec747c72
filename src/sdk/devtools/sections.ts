/** The panel's sections: who is online, and the writes that were not confirmed. */
import { add, Disclosure, element, ItemList } from "./elements.ts";
import { emptyNote, MAX_ENTRIES, row, ValueItem } from "./items.ts";
import { summary } from "./json.ts";
import type { Monitor } from "./monitor.ts";

export interface Section {
  readonly element: Element;
  /** Shows the client as it is now. */
  show(monitor: Monitor): void;
}

export function usersSection(): Section {
  const part = new Disclosure("Users", { isOpen: true });
  const body = element("div");
  const list = new ItemList<unknown>(body, (name) => new ValueItem(name.slice(name.indexOf(" ") + 1)));
  const none = emptyNote("No one is online.");
  add(part.element, body, none.element);
  return {
    element: part.element,
    show: ({ client }) => {
      const online = [...client.users.online.values()];
      const states = client.presence.getStates();
      part.note(`${online.length} online`);
      none.show(online.length === 0);
      list.show(
        online.map(({ id, name }) => {
          const label = id === client.userId ? `${name} (you)` : name;
          return [`${id} ${label}`, states.get(id) ?? null] as const;
        }),
      );
    },
  };
}

export function unconfirmedSection(): Section {
  const part = new Disclosure("Unconfirmed writes", { isOpen: true });
  const rows = element("ol");
  const list = new ItemList<readonly string[]>(rows, row);
  const none = emptyNote("The service has confirmed every write.");
  add(part.element, rows, none.element);
  return {
    element: part.element,
    show: (monitor) => {
      const writes = monitor.unconfirmedWrites();
      part.note(String(writes.length));
      none.show(writes.length === 0);
      list.show(
        writes.slice(0, MAX_ENTRIES).map(({ store, key, action, value }, index) => {
          return [
            String(index),
            [action, `${store}/${key}`, action === "delete" ? "" : summary(value)],
          ] as const;
        }),
      );
    },
  };
}
