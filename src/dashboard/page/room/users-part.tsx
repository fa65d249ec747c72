/** The users of a room, with their tokens, and actions on several of them. */
import type { UserSearch, UserWithToken } from "atrium/server";
import { Link } from "wouter";
import { useKey } from "../data/organization.tsx";
import { useAddress } from "../data/use-address.ts";
import { chosen, type Filters, sortedBy, useFilters } from "../data/use-filters.ts";
import { useSelection } from "../data/use-selection.ts";
import { CopyButton } from "../ui/copy.tsx";
import { Badge, Empty, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { FilterSelect, SearchBox } from "../ui/fields.tsx";
import { SelectCell } from "../ui/select-box.tsx";
import { SelectionBar } from "../ui/several.tsx";
import { Pager, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { NewUser } from "./new-user.tsx";
import { useUserActions, useUsers } from "./use-users.ts";

/** The UTC day that was so many days ago: it stays the same while the page refreshes. */
const dayBefore = (now: number, days: number): string =>
  new Date(now - days * 86_400_000).toISOString().slice(0, 10);

/** What the list can be narrowed to, by the value in the page's address. */
const SHOWN: Readonly<Record<string, (now: number) => UserSearch>> = {
  online: () => ({ online: true }),
  offline: () => ({ online: false }),
  week: (now) => ({ lastSeenFrom: dayBefore(now, 6) }),
  before: (now) => ({ lastSeenTo: dayBefore(now, 7) }),
};
const LABELS = {
  ...{ online: "Online", offline: "Offline" },
  ...{ week: "Seen in the last 7 days", before: "Last seen before that" },
};

export function UsersPart({ roomId }: { readonly roomId: string }) {
  const filters = useFilters();
  const { get, limit, offset, search, searchFor, sort, isNarrowed } = filters;
  const { data, error, refetch } = useUsers(roomId, {
    ...{ limit, offset, ...chosen({ search }), ...SHOWN[get("show")]?.(Date.now()) },
    ...sortedBy(sort, ["name", "created_at"]),
  });
  return (
    <section>
      <div className="filters">
        <SearchBox label="Search users by name or ID" initial={search} onSearch={searchFor} />
        <FilterSelect label="Users to show" filters={filters} name="show" all="All users" options={LABELS} />
        <NewUser roomId={roomId} />
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && <UserTable roomId={roomId} users={data.users} filters={filters} />}
      {data?.total === 0 && (
        <Empty title={isNarrowed ? "No matching users" : "No users yet"}>
          <p>Create a user for each person in your application. They join from a browser with their token.</p>
        </Empty>
      )}
      {data && <Pager filters={filters} total={data.total} />}
    </section>
  );
}

const COLUMNS = [
  { label: "Name", sort: "name" },
  ...["Custom ID", "Role", "Status", "Last joined"],
  { label: "Created", sort: "created_at" },
  "Token",
];

interface UserTableProps {
  readonly roomId: string;
  readonly users: readonly UserWithToken[];
  readonly filters: Filters;
}

function UserTable({ roomId, users, filters }: UserTableProps) {
  const address = useAddress();
  const key = useKey();
  const selection = useSelection(users, ({ id }) => id);
  const actions = useUserActions(roomId);
  return (
    <>
      {users.length > 0 && (
        <Table label="Users" columns={COLUMNS} {...{ selection, filters }}>
          {users.map((user) => (
            <tr key={user.id} data-selected={selection.has(user.id) || undefined}>
              <SelectCell selection={selection} id={user.id} name={user.name} />
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
      )}
      <SelectionBar
        selection={selection}
        noun={{ one: "user", many: "users" }}
        nameOf={({ name }) => name}
        actions={actions}
        invalidates={[key("room", roomId), key("overview")]}
      />
    </>
  );
}
