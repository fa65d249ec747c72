/** Rooms to choose from, and the button that creates one. */
import type { Room, RoomInput, RoomSearch } from "atrium/server";
import { useState } from "react";
import { useLocation } from "wouter";
import { useAction, useApiQuery } from "../data/organization.tsx";
import type { ButtonProps } from "../ui/button.tsx";
import { NameField, SelectField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form.tsx";
import { toLocal } from "../ui/time.tsx";
import { LimitFields, limitsOf } from "./limits.tsx";

/** One page of rooms. */
export const useRooms = (search: RoomSearch, refetchInterval: number | false = false) =>
  useApiQuery(["rooms", search], ({ rooms }) => rooms.list(search), { refetchInterval });

const localExpiry = (room?: Room): string =>
  room?.expires_at == null ? "" : toLocal(Date.parse(room.expires_at));

/** The field of a room's expiry, which {@link expiryOf} reads. */
export const ExpiryField = ({ of }: { readonly of?: Room }) => (
  <TextField
    label="Expires"
    name="expiresAt"
    type="datetime-local"
    max="9999-12-31T23:59"
    defaultValue={localExpiry(of)}
    hint="Optional. The room is deleted then, with everything in it."
  />
);

/** The change of a room's expiry; the field shows no seconds, and changes nothing unless a person changes it. */
export const expiryOf = (local = "", of?: Room): { readonly expiresAt?: string | null } =>
  local === localExpiry(of) ? {} : { expiresAt: local === "" ? null : new Date(local).toISOString() };

/** Creates a room and opens it. */
export function NewRoom({ variant = "primary" }: Pick<ButtonProps, "variant">) {
  const [, go] = useLocation();
  const create = useAction(({ rooms }, room: RoomInput) => rooms.create(room), {
    toast: ({ name }) => `Room ${name} created`,
    refreshes: [["rooms"], ["overview"]],
    onDone: ({ id }) => go(`/rooms/${id}`),
  });
  return (
    <FormDialog
      button={{ variant, icon: "plus", "data-shortcut": "new", children: "New room" }}
      title="New room"
      submitLabel="Create room"
      action={create}
      toInput={({ name = "", customId, expiresAt, ...limits }) => ({
        name,
        ...(customId && { customId }),
        ...(expiresAt && { expiresAt: new Date(expiresAt).toISOString() }),
        ...limitsOf(limits),
      })}
    >
      <NameField />
      <TextField
        label="Custom ID"
        name="customId"
        maxLength={255}
        hint="Optional. The ID of the room in your application; unique in the organization."
      />
      <ExpiryField />
      <LimitFields />
    </FormDialog>
  );
}

const OFFERED = 100;
const ANOTHER = "another";

interface RoomChoiceProps {
  /** Null for all rooms. */
  readonly chosen: string | null;
  readonly onChange: (roomId: string | null) => void;
  /** The label of the option for null. */
  readonly none?: string;
}

/** Selects one of the newest rooms by name, any other by its ID, or all rooms. */
export function RoomChoice({ chosen, onChange, none = "All rooms" }: RoomChoiceProps) {
  const { data } = useRooms({ limit: OFFERED });
  const [isTyped, setTyped] = useState(false);
  const rooms = data?.rooms ?? [];
  const isOffered = chosen === null || rooms.some(({ id }) => id === chosen);
  return (
    <>
      <SelectField
        label="Room"
        value={isTyped ? ANOTHER : (chosen ?? "")}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value === ANOTHER);
          onChange(value === "" || value === ANOTHER ? null : value);
        }}
        options={[
          ["", none],
          ...(isOffered || isTyped ? [] : [chosen]),
          ...rooms.map(
            ({ id, name, custom_id }) => [id, [name, custom_id].filter(Boolean).join(" · ")] as const,
          ),
          ...(data && data.total > OFFERED ? [[ANOTHER, "Another room by ID…"] as const] : []),
        ]}
      />
      {isTyped && (
        <TextField
          label="Room ID"
          name="roomId"
          required
          onChange={(event) => onChange(event.currentTarget.value.trim() || null)}
        />
      )}
    </>
  );
}
