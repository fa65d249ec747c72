/** The settings: API keys, members, quotas, the organization and the person's profile. */
import { Link, useParams } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { bringIntoView } from "../ui/bring-into-view.ts";
import { Page } from "../ui/page.tsx";
import { ApiPart } from "./api-part.tsx";
import { MembersPart } from "./members-part.tsx";
import { OrganizationPart } from "./organization-part.tsx";
import { ProfilePart } from "./profile-part.tsx";
import { QuotasPart } from "./quotas-part.tsx";

const PARTS = [
  { name: "API keys", part: undefined, Content: ApiPart },
  { name: "Members", part: "members", Content: MembersPart },
  { name: "Quotas", part: "quotas", Content: QuotasPart },
  { name: "Organization", part: "organization", Content: OrganizationPart },
  { name: "Profile", part: "profile", Content: ProfilePart },
];

export default function SettingsPage() {
  const { part } = useParams();
  const address = useAddress();
  const { Content = ApiPart } = PARTS.find((one) => one.part === part) ?? {};
  return (
    <Page title="Settings">
      <nav className="tabs" aria-label="Settings">
        {PARTS.map((one) => (
          <Link
            key={one.name}
            href={address(one.part === undefined ? "/settings" : `/settings/${one.part}`)}
            {...(one.part === part && { "aria-current": "page", ref: bringIntoView })}
          >
            {one.name}
          </Link>
        ))}
      </nav>
      <div className="parts">
        <Content />
      </div>
    </Page>
  );
}
