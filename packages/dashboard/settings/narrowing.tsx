/** The permissions and rooms of an API key: the fields that choose them, and how a list shows them. */

import type { ApiKey, ApiKeyNarrowing } from "atrium/server";
import { useState } from "react";
import { Granting, Levels, PRESET_NAMES, permissionsIn } from "../access/access-select.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import type { Values } from "../ui/form.tsx";

type Narrowed = Pick<ApiKey, "permissions" | "rooms">;

export const isNarrowed = ({ permissions, rooms }: Narrowed): boolean =>
  permissions !== null || rooms !== null;

const CUSTOM = "custom";

export function NarrowingFields() {
  const [chosen, choose] = useState("");
  return (
    <>
      <SelectField
        label="Permissions"
        name="permissions"
        value={chosen}
        onChange={({ currentTarget: { value } }) => choose(value)}
        options={[
          ["", "everything"],
          ...PRESET_NAMES.map((name) => [name, `${name} in rooms`] as const),
          [CUSTOM, "chosen levels in rooms"],
        ]}
        hint="A key with permissions or rooms acts on the content of rooms alone, and reads all of it. Neither can be changed later."
      />
      {chosen === CUSTOM && <Levels granted={[]} />}
      <TextField
        label="Rooms"
        name="rooms"
        rows={2}
        hint="Optional: IDs or custom IDs, one in each line; board-* means all custom IDs that begin so. Otherwise all rooms."
      />
    </>
  );
}

/** The choice in the {@link NarrowingFields}; empty for a key that may do everything. */
export function narrowingIn({ permissions = "", rooms = "", ...levels }: Values): ApiKeyNarrowing {
  const preset = PRESET_NAMES.find((name) => name === permissions);
  const named = rooms.split("\n").flatMap((line) => line.trim() || []);
  return {
    ...(preset && { permissions: preset }),
    ...(permissions === CUSTOM && { permissions: permissionsIn(levels) }),
    ...(named.length > 0 && { rooms: named }),
  };
}

/** The rights of a key in a few words. */
export function Allowed({ of: { permissions, rooms } }: { readonly of: Narrowed }) {
  if (!isNarrowed({ permissions, rooms })) return "everything";
  const named = rooms?.map((name) => (typeof name === "string" ? name : name.customId)).join(", ");
  return (
    <span className="long">
      {permissions === null ? "everything" : <Granting granted={permissions} />} in{" "}
      {named === undefined ? "all rooms" : <code>{named}</code>}
    </span>
  );
}
