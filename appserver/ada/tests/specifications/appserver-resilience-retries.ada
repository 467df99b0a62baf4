with Ada.Exceptions;
with Appserver.Resilience.Retries;

package Resilient is

   use Ada.Exceptions;
   use Appserver.Resilience;

   Refused_Error, Broken_Error : exception;

   procedure Fetch is null;

   procedure Fetch_Resiliently;

end Resilient;

package body Resilient is

   @1

   @2

   procedure Fetch_Resiliently is
   begin
      @3
   end Fetch_Resiliently;

end Resilient;
