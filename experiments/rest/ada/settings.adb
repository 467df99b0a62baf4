--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Fixed;
with Interfaces;

package body Settings is

   use Appserver;

   function Times (Arguments : Fields.Field_List) return HTTP.Time_Limits is

      Usual : HTTP.Time_Limits renames HTTP.Time_Limits'(others => <>);

      function Value (Key : String; Otherwise : Duration) return Duration is
        (if Arguments.Has (Key) then Duration (Arguments.Number (Key, 1, 3_600)) else Otherwise);

   begin
      return
        (Header  => Value ("head_timeout", Usual.Header),
         Content => Value ("body_timeout", Usual.Content),
         Idle    => Value ("idle_timeout", Usual.Idle),
         Sending => Value ("send_timeout", Usual.Sending),
         Closing => Usual.Closing);
   end Times;

   procedure Add
     (To             : in out Fields.Field_List;
      Port           : HTTP.Port_Number;
      Workers, Loops : Natural)
   is
      use Ada.Strings;
   begin
      To.Add ("url", "http://127.0.0.1:" & Fixed.Trim (Port'Image, Left));
      To.Add ("workers", Interfaces.Unsigned_64 (Workers));
      To.Add ("loops", Interfaces.Unsigned_64 (Loops));
   end Add;

end Settings;
