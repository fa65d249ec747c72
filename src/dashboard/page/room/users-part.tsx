/** The users of a room, with their tokens. */
import type { UserWithToken } from "atrium/server";
import { Link } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { usePage } from "../data/use-page.ts";
import { Badge } from "../ui/badge.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Empty } from "../ui/empty.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { SearchBox } from "../ui/search-box.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { NewUser } from "./new-user.tsx";
import { useUsers } from "./use-users.ts";

export function UsersPart({ roomId }: { readonly roomId: string }) {
  const { limit, offset, search, searchFor, goTo } = usePage();
  const { data, error, refetch } = useUsers(roomId, { limit, offset, ...(search && { search }) });
  return (
    <section>
      <div className="filters">
        <SearchBox label="Search users by name or ID" initial={search} onSearch={searchFor} />
        <NewUser roomId={roomId} />
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && data.users.length > 0 && <UserTable users={data.users} />}
      {data?.total === 0 && (
        <Empty title={search === "" ? "No users yet" : "No matching users"}>
          <p>Create a user for each person in your application. They join from a browser with their token.</p>
        </Empty>
      )}
      {data && <Pager offset={offset} limit={limit} total={data.total} goTo={goTo} />}
    </section>
  );
}

function UserTable({ users }: { readonly users: readonly UserWithToken[] }) {
  const address = useAddress();
  return (
    <Table label="Users" columns={["Name", "Custom ID", "Role", "Status", "Last joined", "Created", "Token"]}>
      {users.map((user) => (
        <tr key={user.id}>
          <th scope="row">
            <Link href={address(`/rooms/${user.room_id}/users/${user.id}`)}>{user.name}</Link>
          </th>
          <td>{user.custom_id ?? <span className="soft">–</span>}</td>
          <td>{user.role}</td>
          <td>
            <Badge tone={user.status === "online" ? "good" : "plain"}>{user.status}</Badge>
          </td>
          <td>{user.joined_at ? <Time at={user.joined_at} /> : <span className="soft">never</span>}</td>
          <td>
            <Time at={user.created_at} />
          </td>
          <td>
            <CopyButton text={user.token} what={`the token of ${user.name}`} label="Copy" />
          </td>
        </tr>
      ))}
    </Table>
  );
}
