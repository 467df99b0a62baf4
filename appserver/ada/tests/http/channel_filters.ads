--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A filter that adds a field to each response

with Appserver.HTTP.Filters;

package Channel_Filters is

   use Appserver;

   type Marking_Filter is limited new HTTP.Filters.Filter with null record;

   overriding procedure After
     (Self : in out Marking_Filter; Request : HTTP.Request; Response : in out HTTP.Response);

end Channel_Filters;
