/** What every viewer is given. */

import type { Facet } from "../model/facets";
import type { Params } from "../model/route";

export interface ViewerProps {
    facet: Facet;
    params: Params;
}
