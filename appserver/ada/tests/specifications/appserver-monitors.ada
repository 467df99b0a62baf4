with Appserver.Monitors;

package Counted_By_Hand is

   use Appserver;

   @1

   procedure Serve;

end Counted_By_Hand;

package body Counted_By_Hand is

   procedure Serve is
   begin
      @2
      @3
   end Serve;

end Counted_By_Hand;
