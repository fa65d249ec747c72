/** The entries of the audit log as a table. */
import type { AuditEntry } from "atrium/server";
import { Link } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { Identifier } from "../ui/copy.tsx";
import { Empty } from "../ui/feedback.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { operationName } from "./operation-name.ts";

const COLUMNS = ["What", "Who", "When", "Resource", "Changes", "From", "Request"];

export function AuditTable({ entries }: { readonly entries: readonly AuditEntry[] }) {
  if (entries.length === 0)
    return (
      <Empty title="No changes">
        <p>No one has changed anything like this in this time.</p>
      </Empty>
    );
  return (
    <Table label="List of changes" columns={COLUMNS}>
      {entries.map((entry) => (
        <tr key={entry.id}>
          <th scope="row">{operationName(entry.operation)}</th>
          <td>
            <Actor actor={entry.actor} />
          </td>
          <td>
            <Time at={entry.at} />
          </td>
          <td>{entry.resource.id && <Identifier value={entry.resource.id} what="ID" />}</td>
          <td>{describeChanges(entry.changes)}</td>
          <td>{entry.address && <code>{entry.address}</code>}</td>
          <td>{entry.request_id && <Identifier value={entry.request_id} what="request ID" />}</td>
        </tr>
      ))}
    </Table>
  );
}

const KINDS = { person: "", key: "API key ", operator: "The operator" } as const;

/** Who made a change, as a link to all changes by them. */
function Actor({ actor: { type, id, name } }: { readonly actor: AuditEntry["actor"] }) {
  const address = useAddress();
  const shown = `${KINDS[type]}${name ?? ""}`;
  return id === null ? shown : <Link href={address(`/logs/audit?actor=${id}`)}>{shown}</Link>;
}

/** Such as `role: owner, url`. */
const describeChanges = (changes: AuditEntry["changes"]): string =>
  Object.entries(changes)
    .map(([field, value]) => (value === null ? field : `${field}: ${value}`))
    .join(", ");
