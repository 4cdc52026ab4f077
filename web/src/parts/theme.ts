/** Light and dark colors. */

import { useLayoutEffect } from "preact/hooks";
import { useSetting } from "../model/hooks";

export type Theme = "system" | "light" | "dark";

export function useTheme(): [Theme, (theme: Theme) => void] {
    const [theme, setTheme] = useSetting<Theme>("theme", "system");
    useLayoutEffect(() => {
        document.documentElement.dataset["theme"] = theme;
    }, [theme]);
    return [theme, setTheme];
}
