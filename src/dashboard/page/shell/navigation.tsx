/** The main navigation. */
import { Link, useLocation } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { bringIntoView } from "../ui/bring-into-view.ts";
import { Icon } from "../ui/icon.tsx";
import { NAVIGATION_ITEMS } from "./navigation-items.ts";

export function Navigation() {
  const address = useAddress();
  const [path] = useLocation();
  const isHere = (place: string) => (place === "" ? path === address("") : path.startsWith(address(place)));
  return (
    <nav aria-label="Pages">
      {NAVIGATION_ITEMS.map((place) => (
        <Link
          key={place.path}
          href={address(place.path)}
          {...(isHere(place.path) && { "aria-current": "page", ref: bringIntoView })}
        >
          <Icon name={place.icon} />
          {place.name}
        </Link>
      ))}
    </nav>
  );
}
