/** The organization's keys and members, and the person's own name and password. */
import { Link, useParams } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { Page } from "../ui/page.tsx";
import { ApiPart } from "./api-part.tsx";
import { MembersPart } from "./members-part.tsx";
import { YouPart } from "./profile-part.tsx";

const PARTS = [
  { name: "API keys", part: undefined, Content: ApiPart },
  { name: "Members", part: "members", Content: MembersPart },
  { name: "You", part: "you", Content: YouPart },
];

export function SettingsPage() {
  const { part } = useParams();
  const address = useAddress();
  const { Content = ApiPart } = PARTS.find((one) => one.part === part) ?? {};
  return (
    <Page title="Settings">
      <nav className="parts" aria-label="Parts of the settings">
        {PARTS.map((one) => (
          <Link
            key={one.name}
            href={address(one.part === undefined ? "/settings" : `/settings/${one.part}`)}
            aria-current={one.part === part ? "page" : undefined}
          >
            {one.name}
          </Link>
        ))}
      </nav>
      <Content />
    </Page>
  );
}
