/** Selects one of the newest rooms by name, any other by its ID, or all rooms. */
import { useState } from "react";
import { SelectField, TextField } from "../ui/fields.tsx";
import { useRooms } from "./use-rooms.ts";

const OFFERED = 100;
const ANOTHER = "another";

export interface RoomChoiceProps {
  /** Null for all rooms. */
  readonly chosen: string | null;
  readonly onChange: (roomId: string | null) => void;
  /** The label of the option for null. */
  readonly none?: string;
}

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
        onChange={(event) => {
          const { value } = event.currentTarget;
          setTyped(value === ANOTHER);
          onChange(value === "" || value === ANOTHER ? null : value);
        }}
      >
        <option value="">{none}</option>
        {!isOffered && !isTyped && <option value={chosen}>{chosen}</option>}
        {rooms.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
        {data && data.total > OFFERED && <option value={ANOTHER}>Another room by ID…</option>}
      </SelectField>
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
