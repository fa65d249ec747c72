/** API requests as a table. */
import type { ApiRequest } from "atrium/server";
import { Link } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { Identifier } from "../ui/copy.tsx";
import { Badge, Empty } from "../ui/feedback.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

const COLUMNS = ["Request", "Status", "Duration", "Credential", "When", "From", "Request ID"];

const CREDENTIALS: Readonly<Record<ApiRequest["credential"]["type"], string>> = {
  key: "API key",
  member: "Member",
  user: "User",
  none: "None",
};

export function RequestTable({ requests }: { readonly requests: readonly ApiRequest[] }) {
  if (requests.length === 0)
    return (
      <Empty title="No requests">
        <p>No request like this is in the log.</p>
      </Empty>
    );
  return (
    <Table label="List of API requests" columns={COLUMNS}>
      {requests.map((request) => (
        <Row key={request.id} request={request} />
      ))}
    </Table>
  );
}

function Row({ request }: { readonly request: ApiRequest }) {
  const { error, weight } = request;
  return (
    <tr>
      <th scope="row">
        <code>
          {request.method} {request.route}
        </code>
        {error && <p className="soft small">{error.message}</p>}
      </th>
      <td>
        <Badge tone={toneOf(request.status)}>{String(request.status)}</Badge>
        {weight > 1 && <span className="soft"> one of about {Math.round(weight)}</span>}
      </td>
      <td className="number">{Math.round(request.duration_ms)} ms</td>
      <td>
        <Credential credential={request.credential} />
      </td>
      <td>
        <Time at={request.at} />
      </td>
      <td>{request.address && <code>{request.address}</code>}</td>
      <td>
        <Identifier value={request.id} what="request ID" />
      </td>
    </tr>
  );
}

const toneOf = (status: number) => (status >= 500 ? "bad" : status >= 400 ? "waiting" : "good");

/** The kind of a credential, as a link to all requests with it. */
function Credential({ credential: { type, id } }: Pick<ApiRequest, "credential">) {
  const address = useAddress();
  if (id === null) return CREDENTIALS[type];
  return (
    <Link href={address(`/logs?credential=${encodeURIComponent(id)}`)}>
      {CREDENTIALS[type]} {id.slice(0, 8)}
    </Link>
  );
}
