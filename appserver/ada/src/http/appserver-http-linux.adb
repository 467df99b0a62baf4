--  SPDX-License-Identifier: Apache-2.0

with Interfaces.C;

package body Appserver.HTTP.Linux is

   use Interfaces.C;

   function C_Close (File : int) return int
     with Import, Convention => C, External_Name => "close";

   procedure Close (File : Descriptor) is
      Ignored : constant int := C_Close (int (File));
   begin
      null;
   end Close;

end Appserver.HTTP.Linux;
