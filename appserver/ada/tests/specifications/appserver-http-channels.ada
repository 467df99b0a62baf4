with Appserver.HTTP.Channels.Events;

procedure Telling (Channel : Appserver.HTTP.Channels.Channel) is

   use Appserver;

   @1

begin
   @2
   @3
end Telling;
