/** The table of API keys, of which several can be revoked. */
import type { ApiKey } from "atrium/server";
import { useKey } from "../data/organization.tsx";
import type { Filters } from "../data/use-filters.ts";
import { useSelection } from "../data/use-selection.ts";
import { ConfirmButton } from "../ui/confirm.tsx";
import { SelectCell } from "../ui/select-box.tsx";
import { SelectionBar } from "../ui/several.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { useKeyActions } from "./key-actions.ts";
import { useRevokeKey } from "./use-keys.ts";

const COLUMNS = [
  { label: "Name", sort: "name" },
  "Key",
  { label: "Created", sort: "created_at" },
  { label: "Last used", sort: "last_used_at" },
  "!Actions",
];

interface KeyTableProps {
  readonly keys: readonly ApiKey[];
  readonly filters: Filters;
  readonly isOwner: boolean;
}

export function KeyTable({ keys, isOwner, filters }: KeyTableProps) {
  const key = useKey();
  const selection = useSelection(keys, ({ id }) => id);
  const actions = useKeyActions();
  return (
    <>
      {keys.length > 0 && (
        <Table
          label="List of API keys"
          columns={COLUMNS}
          filters={filters}
          selection={isOwner ? selection : undefined}
        >
          {keys.map((one) => (
            <tr key={one.id} data-selected={selection.has(one.id) || undefined}>
              {isOwner && <SelectCell selection={selection} id={one.id} name={one.name} />}
              <th scope="row">{one.name}</th>
              <td>
                <code>
                  {one.prefix}…{one.last_four}
                </code>
              </td>
              <td>
                <Time at={one.created_at} />
              </td>
              <td>
                {one.last_used_at === null ? (
                  <span className="soft">never</span>
                ) : (
                  <Time at={one.last_used_at} />
                )}
              </td>
              <td className="row-actions">{isOwner && <Revocation apiKey={one} />}</td>
            </tr>
          ))}
        </Table>
      )}
      <SelectionBar
        selection={selection}
        noun={{ one: "API key", many: "API keys" }}
        nameOf={({ name }) => name}
        actions={actions}
        invalidates={[key("keys")]}
      />
    </>
  );
}

function Revocation({ apiKey }: { readonly apiKey: ApiKey }) {
  const revoke = useRevokeKey(apiKey.id);
  return (
    <ConfirmButton
      label="Revoke"
      accessibleName={`Revoke ${apiKey.name}`}
      variant="quiet"
      title={`Revoke ${apiKey.name}?`}
      confirmLabel="Revoke key"
      act={revoke}
    >
      <p>
        Requests with this key fail within 10 seconds, and what it made ends: API keys, invitations and links
        for a new password. This cannot be undone.
      </p>
    </ConfirmButton>
  );
}
