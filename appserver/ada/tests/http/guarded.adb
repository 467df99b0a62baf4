--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Guarded is

   use Appserver.HTTP;

   overriding procedure Before
     (Self         : in out Guard;
      Request      : HTTP.Request;
      Response     : in out HTTP.Response;
      Has_Response : in out Boolean) is
   begin
      if Request.Method = Put and then Request.Field ("Authorization") /= "Bearer of a token" then
         Request.Builder.Add_Field ("WWW-Authenticate", "Bearer");
         Response     := Status_Only (Unauthorized);
         Has_Response := True;
      end if;
   end Before;

end Guarded;
